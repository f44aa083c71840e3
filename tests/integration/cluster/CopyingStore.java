import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * A folder that behaves as an object store does: a file appears when it is closed, and renaming is
 * a copy of one file after the other, at any of which it may end. For tests alone.
 */
public class CopyingStore extends RawLocalFileSystem {
    private static final URI OWN = URI.create("copying:///");

    @Override
    public URI getUri() {
        return OWN;
    }

    @Override
    public String getScheme() {
        return "copying";
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        // A driver that renames a file to such a name dies over it.
        String fatal = getConf().get("copying.fatal");
        boolean isDriver = System.getProperty("sun.java.command", "").contains("SparkSubmit");
        if (fatal != null && isDriver && to.getName().startsWith(fatal)) {
            Runtime.getRuntime().halt(137);
        }
        FileStatus found = getFileStatus(from);
        if (found.isFile()) {
            Path own = exists(to) && getFileStatus(to).isDirectory() ? new Path(to, from.getName()) : to;
            try (FSDataOutputStream out = create(own, true)) {
                out.write(Files.readAllBytes(pathToFile(from).toPath()));
            }
        } else {
            mkdirs(to);
            for (FileStatus each : listStatus(from)) {
                rename(each.getPath(), new Path(to, each.getPath().getName()));
            }
        }
        return delete(from, true);
    }

    @Override
    public FSDataOutputStream create(
            Path path, boolean overwrite, int buffer, short copies, long block, Progressable progress)
            throws IOException {
        if (!overwrite && exists(path)) {
            throw new IOException("there is such a file: " + path);
        }
        ByteArrayOutputStream content = new ByteArrayOutputStream() {
            private boolean closed;

            @Override
            public void close() throws IOException {
                if (!closed) {
                    closed = true;
                    mkdirs(path.getParent());
                    Files.write(pathToFile(path).toPath(), toByteArray());
                }
            }
        };
        return new FSDataOutputStream(content, statistics);
    }

    @Override
    public FSDataOutputStream create(
            Path path,
            FsPermission permission,
            boolean overwrite,
            int buffer,
            short copies,
            long block,
            Progressable progress)
            throws IOException {
        return create(path, overwrite, buffer, copies, block, progress);
    }
}
